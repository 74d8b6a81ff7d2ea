import CCrypto
import Glibc

// A thread that a silent server holds up may still look at certificates when the command ends: what OpenSSL would take
// back then, the end of the process does.
_ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)

let words = Array(CommandLine.arguments.dropFirst())
TypedSecrets.hide()
exit(await Reprise.run(words).rawValue)
