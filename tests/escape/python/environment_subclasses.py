# ends: ok
hosts = ("engine", "models", "journal", "limits", "bridge", "backend")
found = [
    each
    for each in object.__subclasses__()
    if each.__module__.startswith("sonde.") and each.__module__.split(".")[-1] in hosts
]
"ESCAPED" if found else "held"
