# ends: error
import pickle

nested = []
for _ in range(200_000):
    nested = [nested]
pickle.dumps(nested)
