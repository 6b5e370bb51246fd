# ends: error | killed
import ast

compile(ast.parse("x" + ".y" * 200_000), "deep", "exec")
