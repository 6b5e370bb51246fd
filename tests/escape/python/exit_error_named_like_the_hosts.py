# ends: error | killed
# An error that says it is the runner's own way of ending.
from sonde.interpreters.confined.child.wire import HostGone

raise HostGone
