import RepriseCore
import ThermostatKit

// A thermostat, on the worlds that are typed: see README.md.

do {
  let options = try Options(CommandLine.arguments.dropFirst())
  let worlds = try options.open()
  var thermostat = try Thermostat()
  thermostat.interval = options.interval
  try await thermostat.run(on: worlds.worlds, radiator: Radiator(), reports: options.reports) {
    print($0)
  }
  try worlds.finish()
} catch let error as Options.Misuse {
  fail("\(error.message)\n\n\(Options.usage)", status: 2)
} catch {
  fail("\(error)", status: 1)
}
