"""What goes into and out of the club's API, by the names of the tables' attributes."""
