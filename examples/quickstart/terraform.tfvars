project     = "shop"
environment = "dev"

# For the emulator only. Hand real secrets over in the environment: TF_VAR_database_password.
database_password = "correct-horse-battery"
