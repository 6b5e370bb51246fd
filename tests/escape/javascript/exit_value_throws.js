({ get x() { throw new Error('no'); } })
