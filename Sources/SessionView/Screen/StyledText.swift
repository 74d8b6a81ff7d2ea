/// Text of which parts look different.
package struct StyledText: Sendable, Hashable {
  /// How a part looks.
  package struct Style: Sendable, Hashable {
    /// The colours that all terminals have.
    package enum Color: UInt8, Sendable {
      case red = 31
      case green, yellow, blue, magenta, cyan
    }

    var color: Color?
    var isBold = false
    var isDim = false
    var isReversed = false

    /// Creates a style.
    package init(
      _ color: Color? = nil, isBold: Bool = false, isDim: Bool = false, isReversed: Bool = false
    ) {
      self.color = color
      self.isBold = isBold
      self.isDim = isDim
      self.isReversed = isReversed
    }

    package static let plain = Style()
    package static let fault = Style(.red)
    static let bar = Style(isReversed: true)
    static let title = Style(isBold: true)
    package static let quiet = Style(isDim: true)
  }

  /// A part.
  package struct Span: Sendable, Hashable {
    package var text: String
    package var style: Style
  }

  /// The parts.
  package private(set) var spans: [Span] = []
  /// How the rest of the line looks.
  var rest = Style.plain

  /// Creates text of one part.
  package init(_ text: String = "", _ style: Style = .plain) { append(text, style) }

  /// Appends a part.
  package mutating func append(_ text: String, _ style: Style = .plain) {
    if !text.isEmpty { spans.append(Span(text: text, style: style)) }
  }

  /// The text alone.
  package var plain: String { spans.map(\.text).joined() }

  /// The same, reversed to the end of its line.
  var reversed: StyledText {
    var copy = self
    for index in copy.spans.indices { copy.spans[index].style.isReversed = true }
    copy.rest.isReversed = true
    return copy
  }

  /// Reads text with the colours that `EventTextWriter` writes; no other sequence is known.
  /// - Parameter bytes: UTF-8, in which what is not the writer's own begins no sequence.
  package init(colored bytes: some Sequence<UInt8>) {
    var style = Style.plain
    let parts = Array(bytes).split(separator: 0x1B, omittingEmptySubsequences: false)
    append(String(decoding: parts.first ?? [], as: UTF8.self))
    for part in parts.dropFirst() {
      guard let end = part.firstIndex(of: UInt8(ascii: "m")) else { continue }
      switch Int(String(decoding: part[part.startIndex..<end].dropFirst(), as: UTF8.self)) {
      case 2: style = .quiet
      case let number?: style = Style(UInt8(exactly: number).flatMap(Style.Color.init))
      case nil: style = .plain
      }
      append(String(decoding: part[end...].dropFirst(), as: UTF8.self), style)
    }
  }
}
