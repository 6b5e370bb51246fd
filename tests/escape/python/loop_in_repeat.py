# ends: killed | timeout
import itertools

"x" in itertools.repeat("y")
