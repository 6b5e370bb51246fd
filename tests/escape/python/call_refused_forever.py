# ends: timeout | killed
while True:
    try:
        await llm("fail")
    except TaskError:
        pass
