# ends: ok | error
import ast

ast.fix_missing_locations = ast.Assign = ast.Name = None
1
