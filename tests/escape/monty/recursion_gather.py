# ends: error | killed | timeout
async def deeper(n):
    return await gather(deeper(n + 1), deeper(n + 1))


await deeper(0)
