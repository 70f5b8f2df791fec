"""The async SDK: `Client` on a `StorageProvider`. Import its names from `pinui`."""
