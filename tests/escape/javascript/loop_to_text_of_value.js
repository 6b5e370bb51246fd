({ get constructor() { while (true) {} } })
