import Glibc

/// Secrets among the words that a process was started with, which all users of a computer can list.
enum TypedSecrets {
  private static let option = "--\(OptionSpec.preSharedKey.name)"

  /// Writes over the secrets in the memory that the system lists the words from; who has the words keeps them.
  static func hide() {
    var isNext = false
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let word = CommandLine.unsafeArgv[index] else { return }
      let text = String(cString: word)
      let hidden = isNext ? 0 : text.hasPrefix("\(option)=") ? option.utf8.count + 1 : nil
      isNext = !isNext && text == option
      guard let hidden else { continue }
      memset(word + hidden, Int32(UInt8(ascii: "*")), strlen(word) - hidden)
    }
  }
}
