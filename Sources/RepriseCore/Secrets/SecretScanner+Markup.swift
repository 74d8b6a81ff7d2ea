// What stands between marks: the elements of XML, and keys in PEM format.
extension SecretScanner {
  // MARK: XML

  /// Returns the text of an element that has the name of a secret, with or without a prefix before a colon; of its
  /// attributes as well, if there are any.
  func element(_ opening: Int) -> Secret? {
    var end = opening + 1
    var start = end
    while end < bytes.count, Self.isName(bytes[end]) || bytes[end] == UInt8(ascii: ":") {
      end += 1
      if bytes[end - 1] == UInt8(ascii: ":") { start = end }
    }
    guard start < end, end < bytes.count,
      names.contain(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    else { return nil }
    guard bytes[end] == UInt8(ascii: ">") else { return content(behind: end) }
    guard let text = textEnd(from: end + 1) else { return nil }
    return secret(end + 1..<text)
  }

  /// Returns the text of an element with what stands behind its name; nil if there is no text.
  private func content(behind name: Int) -> Secret? {
    guard Self.isSpace(bytes[name]) else { return nil }
    var index = name
    while index < bytes.count, bytes[index] != UInt8(ascii: "<"), bytes[index] != UInt8(ascii: ">")
    {
      index += 1
    }
    guard index < bytes.count, bytes[index] == UInt8(ascii: ">"),
      bytes[index - 1] != UInt8(ascii: "/"), let end = textEnd(from: index + 1), end > index + 1
    else { return nil }
    return secret(name + 1..<end)
  }

  /// Returns where the text of an element ends that begins at an index: where a tag begins, or the text does not go on.
  /// - Parameter start: The index.
  /// - Returns: The end; nil for what only looks like an element, as in `login <user> <password> now`.
  private func textEnd(from start: Int) -> Int? {
    let cdata = "<![CDATA["
    if bytes[start...].starts(with: cdata.utf8) {
      var index = start + cdata.utf8.count
      while index < bytes.count, !bytes[index...].starts(with: "]]>".utf8) { index += 1 }
      return index
    }
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "<") { index += 1 }
    let isClosed = index + 1 < bytes.count && "/\\".utf8.contains(bytes[index + 1])
    guard isClosed || start < bytes.count && !Self.isSpace(bytes[start]) else { return nil }
    return index
  }

  // MARK: PEM

  /// Whether a space may be that in `PRIVATE KEY`.
  func mayBeginKey(_ space: Int) -> Bool {
    space + 1 < bytes.count && bytes[space + 1] == UInt8(ascii: "K")
  }

  /// Returns what stands between the lines that a private key begins and ends with (RFC 7468 section 10), which has
  /// its second space at an index.
  func privateKey(_ space: Int) -> Secret? {
    let (before, behind, begin) = ("PRIVATE", " KEY-----", "-----BEGIN ")
    let word = space - before.utf8.count
    guard word >= floor, bytes[word..<space].elementsEqual(before.utf8),
      bytes[space...].starts(with: behind.utf8)
    else { return nil }
    // The kind of key may stand before: `RSA`, `EC`, `ENCRYPTED`, `OPENSSH`.
    var start = word
    while start > floor, word - start < 24, bytes[start - 1] != UInt8(ascii: "-") { start -= 1 }
    start -= begin.utf8.count - 6
    guard start >= floor, bytes[start..<word].starts(with: begin.utf8) else { return nil }
    return secret(space + behind.utf8.count..<keyEnd(from: space + behind.utf8.count))
  }

  /// Returns where a key ends that begins at an index: before the line that says so, or with the string that it is in.
  private func keyEnd(from start: Int) -> Int {
    var index = start
    while index < bytes.count, !"\"'<".utf8.contains(bytes[index]),
      !bytes[index...].starts(with: "-----".utf8)
    {
      index += 1
    }
    // The backslashes before a quote are those of the quote.
    while index > start, index < bytes.count, bytes[index] == UInt8(ascii: "\""),
      bytes[index - 1] == UInt8(ascii: "\\")
    {
      index -= 1
    }
    return index
  }
}
