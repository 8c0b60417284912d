"""What every part of the program uses and no user imports."""
