await llm('\ud800\udfff\udc80 \0 \u2028');
