import RepriseCore

/// What a user typed behind a command's name, checked against what the command takes.
struct Arguments: Sendable, Equatable {
  /// The words that are no options.
  private(set) var operands: [String] = []
  /// How to see what the command takes, for messages.
  let helpHint: String
  private var values: [String: [String]] = [:]

  /// The first of the operands; empty without one.
  var operand: String { operands.first ?? "" }

  /// The same without the first operand.
  var droppingFirstOperand: Arguments {
    var copy = self
    copy.operands = Array(operands.dropFirst())
    return copy
  }

  /// Whether a flag was given.
  func has(_ option: OptionSpec) -> Bool { values[option.name] != nil }

  /// The value of an option; of several the last.
  func value(_ option: OptionSpec) -> String? { values[option.name]?.last }

  /// The values of an option that may stand several times.
  func list(_ option: OptionSpec) -> [String] { values[option.name] ?? [] }

  /// Whether there are keys by which to decrypt TLS.
  var hasKeys: Bool {
    !list(.keyLog).isEmpty || value(.serverKey) != nil || value(.preSharedKey) != nil
  }

  /// Takes apart what was typed.
  /// - Parameters:
  ///   - words: What stands behind the command's name.
  ///   - spec: What the command takes.
  /// - Throws: ``UsageError`` for anything else.
  init(_ words: [String], for spec: CommandSpec) throws(UsageError) {
    helpHint = spec.helpHint
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      } else if word.hasPrefix("--") {
        try take(long: word.dropFirst(2), &rest, spec)
      } else if word.hasPrefix("-"), word != "-" {
        try take(letters: word.dropFirst(), &rest, spec)
      } else {
        operands.append(word)
      }
    }
    if !has(.help) { try checkOperands(spec) }
  }

  /// Checks the number of operands.
  /// - Throws: ``UsageError`` for too few or too many.
  func checkOperands(_ spec: CommandSpec) throws(UsageError) {
    if operands.count < spec.operandCount.lowerBound {
      throw UsageError(
        "\(spec.name) needs \(spec.operands)",
        spec.helpHint)
    }
    guard operands.count > spec.operandCount.upperBound, let extra = operands.last else { return }
    // As in cp: what looks like a file may be the one to write.
    let isTarget =
      extra.contains(".") && values["output"] == nil
      && spec.allOptions.contains { $0.name == "output" }
    let hint = isTarget ? "-o \(ShellWord.quoted(extra)) writes a file of that name; " : ""
    throw UsageError(
      "\(spec.name) takes no further word, but there is '\(extra)'", hint + spec.helpHint)
  }

  /// Checks that there are no options but those of a command, where more were taken before it was named.
  /// - Throws: ``UsageError`` for another one.
  func checkOptions(_ spec: CommandSpec) throws(UsageError) {
    let names = Set(spec.allOptions.map(\.name))
    guard let name = values.keys.filter({ !names.contains($0) }).min() else { return }
    throw UsageError(
      "\(spec.name) has no option --\(name)", spec.missing[name] ?? spec.helpHint)
  }

  // MARK: Options

  private mutating func take(
    long word: Substring, _ rest: inout ArraySlice<String>, _ spec: CommandSpec
  ) throws(UsageError) {
    let name = word.prefix { $0 != "=" }
    let attached = name.endIndex < word.endIndex ? word[name.endIndex...].dropFirst() : nil
    guard let option = spec.allOptions.first(where: { $0.name == name }) else {
      let names = spec.allOptions.map(\.name)
      let nearest = NearestName.find(String(name), in: names).map { "did you mean --\($0)? " }
      throw UsageError(
        "unknown option --\(name)",
        spec.missing[String(name)] ?? (nearest ?? "") + spec.helpHint)
    }
    if option.value == nil, attached != nil {
      throw UsageError("--\(name) takes no value", "type --\(name) alone")
    }
    try set(option, as: "--\(name)", attached.map(String.init), &rest)
  }

  /// Takes `-o FILE`, `-oFILE`, `-q` and several flags in one word.
  private mutating func take(
    letters word: Substring, _ rest: inout ArraySlice<String>, _ spec: CommandSpec
  ) throws(UsageError) {
    var letters = word
    while let letter = letters.popFirst() {
      guard let option = spec.allOptions.first(where: { $0.letter == letter }) else {
        throw UsageError(
          "unknown option -\(letter)", spec.helpHint)
      }
      guard option.value != nil else {
        try set(option, as: "-\(letter)", nil, &rest)
        continue
      }
      if letters.first == "=" { letters.removeFirst() }
      return try set(option, as: "-\(letter)", letters.isEmpty ? nil : String(letters), &rest)
    }
  }

  private mutating func set(
    _ option: OptionSpec, as typed: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) throws(UsageError) {
    guard let placeholder = option.value else {
      values[option.name] = [""]
      return
    }
    guard let value = attached ?? rest.popFirst() else {
      throw UsageError("\(typed) needs a value", "type \(typed) \(placeholder)")
    }
    let parts = option.isList ? Self.split(value) : [value]
    for part in parts where !option.choices.isEmpty && !option.choices.contains(part) {
      let choices = option.choices.joined(separator: ", ")
      // One letter or digit is as near to any other.
      let nearest = part.count > 1 ? NearestName.find(part, in: option.choices) : nil
      let question = nearest.map { "did you mean \($0)? " } ?? ""
      throw UsageError("\(typed) can't be '\(part)'", question + "it takes one of: \(choices)")
    }
    if option.isList || option.repeats {
      values[option.name, default: []] += parts
    } else {
      values[option.name] = parts
    }
  }

  private static func split(_ list: String) -> [String] {
    list.split(separator: ",").map(String.init)
  }
}

/// Why a command can't be run as it was typed.
struct UsageError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong.
  var message: String
  /// What to type instead.
  var remedy: String

  init(_ message: String, _ remedy: String) {
    self.message = message
    self.remedy = remedy
  }

  var description: String { "\(message); \(remedy)" }
}
