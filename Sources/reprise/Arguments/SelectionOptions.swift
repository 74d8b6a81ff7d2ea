import RepriseCore

// Which events of a session are wanted.
extension OptionSpec {
  /// `--filter EXPRESSION`.
  static let filter = OptionSpec(
    name: "filter", value: "EXPRESSION", repeats: true,
    help: "Takes only the events that match, of several all; see reprise help filter.")
  /// `--connection N`.
  static let connection = OptionSpec(
    name: "connection", value: "N", help: "Takes only the connection of this number.")
  /// `--client ID`.
  static let client = OptionSpec(
    name: "client", value: "ID", help: "Takes only the connections of this client.")
  /// `--from TIME`.
  static let from = OptionSpec(
    name: "from", value: "TIME",
    help: "Takes events from then on: 2026-11-21T07:39:01Z, 07:39 (UTC), or +90s from the start.")
  /// `--to TIME`.
  static let to = OptionSpec(
    name: "to", value: "TIME", help: "Takes only the events before then.")
}

extension SessionFilter {
  /// Reads `--filter`, `--from` and `--to`; nil if there are none.
  init?(typed arguments: Arguments, memory: Int) throws(UsageError) {
    for option in [OptionSpec.from, .to] {
      do {
        let text = arguments.value(option)
        _ = try SessionFilter(all: [], from: text, memory: memory)
      } catch {
        throw UsageError("--\(option.name): \(error.message)", arguments.helpHint)
      }
    }
    do {
      try self.init(
        all: arguments.list(.filter), from: arguments.value(.from), to: arguments.value(.to),
        memory: memory)
    } catch {
      throw UsageError(
        "--filter: \(error.message), \(error.place)", "type reprise help filter")
    }
  }
}
