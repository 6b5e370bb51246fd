# ends: error RecursionError
async def again():
    return await again()


await again()
