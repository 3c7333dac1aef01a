"""What is refused when a design is imported. The checks are in `keyplan.design`; here are their pages."""
