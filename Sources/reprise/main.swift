import Glibc

exit(await Reprise.run(Array(CommandLine.arguments.dropFirst())).rawValue)
