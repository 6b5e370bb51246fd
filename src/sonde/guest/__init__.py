"""What code in a cell can call. Standard library only: this runs inside the separate interpreter too."""
