"""Drive a run: turn after turn, cell after cell, and again from the record when it was cut short."""
