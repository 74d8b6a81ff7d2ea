import Glibc

exit(Reprise.run(Array(CommandLine.arguments.dropFirst())).rawValue)
