async def again():
    return await again()


await again()
