import ConformanceKit
package import RepriseCore

extension ViewedSession: ViewedModel {
  /// Of a payload so many characters are searched.
  private static let searchedPayload = 4_096

  package var name: String { file }
  package var count: Int { archive.count }
  package var progress: String? {
    let cut = archive.leftOver > 0 ? "\(archive.leftOver) more do not fit" : nil
    return isReading ? (cut.map { "reading, \($0)" } ?? "reading") : cut
  }

  package func row(at index: Int) -> StyledText {
    StyledText(colored: line(at: index, EventTextWriter(usesColor: true, hiding: redaction)))
  }

  package func text(at index: Int) -> String {
    let writer = EventTextWriter(hiding: redaction, payloadLimit: Self.searchedPayload)
    return String(decoding: line(at: index, writer), as: UTF8.self)
  }

  private func line(at index: Int, _ writer: EventTextWriter) -> ArraySlice<UInt8> {
    var writer = writer
    var bytes: [UInt8] = []
    _ = archive.withEvent(at: index) { writer.append($0, to: &bytes) }
    // Above it stands the date.
    let start = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return bytes[start...]
  }

  package func details(at index: Int, width: Int) -> [PageLine] {
    page(at: index)?.lines(bytesPerLine: width >= 75 ? 16 : width >= 43 ? 8 : 4) ?? []
  }

  package func frame(at index: Int) -> Int? { archive.context(at: index)?.frame }
  package func place(atOrBehind frame: Int) -> Int? { archive.event(atOrBehind: frame) }

  package func command(at index: Int?) -> String {
    let words = ([file] + options).map(ShellWord.quoted).joined(separator: " ")
    guard let frame = index.flatMap(frame) else { return "reprise view \(words)" }
    return "reprise view \(words) --at \(frame)"
  }

  package var findingCount: Int { findings.count }

  package func finding(at place: Int) -> StyledText {
    guard findings.indices.contains(place) else { return StyledText() }
    let found = findings[place]
    let frame = "\(found.finding.frame)"
    var line = StyledText(String(repeating: " ", count: max(0, 7 - frame.count)) + frame)
    line.append("  #\(found.finding.connection)  ")
    line.append(found.clause.id, .fault)
    line.append(" (\(found.clause.level.rawValue)) ")
    line.append(PageLine(found.finding.message).text)
    return line
  }

  package func thing(ofFinding place: Int) -> Int? {
    findings.indices.contains(place) ? findings[place].event : nil
  }

  package func choice(_ text: String) throws(FilterError) -> SessionFilter {
    try SessionFilter(text)
  }

  package func isChosen(_ index: Int, by choice: inout SessionFilter) -> Bool {
    archive.withEvent(at: index) { choice.matches($0) } ?? false
  }

  package func completions(of text: String) -> (replaced: Int, words: [String]) {
    FilterCompletion.words(after: text)
  }
}
