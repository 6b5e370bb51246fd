# ends: error | killed
import ast

ast.unparse(ast.parse("+".join(["x"] * 50_000)))
