"""The command line against the embedded emulator, over real HTTP: what the contract promises to users and CI."""
