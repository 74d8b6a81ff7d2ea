import RepriseCore

extension OptionSpec {
  static let redact = OptionSpec(
    name: "redact", value: "RULE", repeats: true,
    help: "Hides what else must not be told: topic:FILTER, key:NAME, username or correlation.")
  static let showSecrets = OptionSpec(
    name: "show-secrets", help: "Shows passwords, tokens and signatures instead of ***.")
}

extension RedactionRules {
  /// Reads `--redact`.
  /// - Parameters:
  ///   - arguments: Where it stands.
  ///   - hidesSecrets: Whether secrets are hidden, too.
  /// - Throws: ``UsageError`` for a rule that is none.
  init(_ arguments: Arguments, hidesSecrets: Bool) throws(UsageError) {
    self.init(hidesSecrets: hidesSecrets)
    for rule in arguments.list(.redact) {
      do throws(TypedError) {
        try add(typed: rule)
      } catch {
        switch error {
        case .unknown:
          throw UsageError(
            "--redact can't be '\(rule)'",
            "type topic:FILTER, key:NAME, username, correlation or secrets")
        case .notTopicFilter(let filter):
          throw UsageError(
            "--redact: '\(filter)' is no topic filter",
            "+ stands for a whole level, # for all levels at the end: plant/+/alarm, plant/#")
        }
      }
    }
  }
}
