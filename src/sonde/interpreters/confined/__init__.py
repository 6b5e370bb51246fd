"""Interpreters in processes of their own, confined by the kernel."""
