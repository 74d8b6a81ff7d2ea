internal import RepriseCore

/// A file that is judged as a part of one capture.
public struct JoinedPart: Sendable, Hashable {
  /// The file.
  public let file: String
  /// The number of its first frame, from 1, among the frames of all parts.
  public let firstFrame: Int

  /// Creates a part.
  public init(file: String, firstFrame: Int) {
    self.file = file
    self.firstFrame = firstFrame
  }

  /// What a report says of it.
  var text: String { "\(file) from \(firstFrame)" }
}

extension ConformanceReport {
  /// Names the files that frames are in, where what was judged as one file is several.
  /// - Parameter parts: The parts, in their order; none where it was one file.
  /// - Returns: The report with the parts.
  package func joined(of parts: [JoinedPart]) -> ConformanceReport {
    guard !parts.isEmpty else { return self }
    func file(of frame: Int) -> String {
      (parts.last { $0.firstFrame <= frame } ?? parts[0]).file
    }
    var report = self
    report.inputs = parts.map(\.file)
    report.parts = parts
    for index in report.results.indices {
      for place in report.results[index].findings.indices {
        let frame = report.results[index].findings[place].frame
        report.results[index].findings[place].file = file(of: frame)
      }
      for place in report.results[index].places.indices {
        report.results[index].places[place].file = file(
          of: report.results[index].places[place].frame)
      }
    }
    return report
  }
}

extension JoinedPart {
  /// Reads what a report says of a part.
  init(_ value: JSONValue, of file: String) throws(ReportError) {
    guard let name = value["file"]?.text, let frame = value["firstFrame"]?.integer else {
      throw ReportError(file, "a part in it has no file, or no first frame")
    }
    self.init(file: name, firstFrame: frame)
  }
}
