# ends: error | killed | timeout
async def deeper(n):
    return await deeper(n + 1)


await deeper(0)
