# ends: ok | error
eval("'\ud800'")
