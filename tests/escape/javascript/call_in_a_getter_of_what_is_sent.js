FINAL({ get a() { FINAL({ get b() { return budget.remaining(); } }); return llm('a'); }, c: { toJSON: () => FINAL(1) } });
