# Values that are small there and larger here, given to what the host answers.
import os

os.getenv("x", [[]] * 3_500_000)
