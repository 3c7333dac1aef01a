"""What runs into limits of partitions and items, or costs more than it has to."""
