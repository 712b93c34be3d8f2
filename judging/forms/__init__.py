"""What researchers type and choose, checked and put into the shapes of the domain calls."""
