"""JavaScript cells: QuickJS in WebAssembly, inside a confined process."""
