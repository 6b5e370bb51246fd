# ends: error | killed
import ast

node = ast.Constant(1)
for _ in range(300_000):
    node = ast.UnaryOp(ast.USub(), node)
compile(ast.fix_missing_locations(ast.Expression(node)), "deep", "eval")
