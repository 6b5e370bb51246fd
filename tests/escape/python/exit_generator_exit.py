# ends: error GeneratorExit
raise GeneratorExit
