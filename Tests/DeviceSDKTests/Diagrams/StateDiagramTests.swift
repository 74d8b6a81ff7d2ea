import Foundation
import FoundationXML
import TestSupport
import Testing

/// The state diagrams in the documentation are those of the machines' own tables.
///
/// `make diagrams` writes them anew, for which this is run with WRITE_DIAGRAMS set.
@Suite struct StateDiagramTests {
  private static let catalogue = PackageFolder.url.appending(
    path: "Sources/DeviceSDK/DeviceSDK.docc")

  @Test(arguments: StateDiagram.all) func articleHoldsTheTable(diagram: StateDiagram) throws {
    let file = Self.catalogue.appending(path: "\(diagram.article).md")
    var text = try String(contentsOf: file, encoding: .utf8)
    if Self.writes {
      let start = try #require(text.range(of: "| From |"))
      let end = try #require(text.range(of: "|\n\n", range: start.lowerBound..<text.endIndex))
      text.replaceSubrange(start.lowerBound...end.lowerBound, with: diagram.table)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(text.contains("\n\n\(diagram.table)\n\n"))
    #expect(text.contains("](\(diagram.picture))"))
  }

  @Test(arguments: StateDiagram.all) func pictureHasTheArrowsOfTheTable(
    diagram: StateDiagram
  ) throws {
    let file = Self.catalogue.appending(path: "Resources/\(diagram.picture).svg")
    if Self.writes { try Self.draw(diagram, to: file) }
    let picture = try Picture(of: file)
    #expect(picture.edges == Set(diagram.edges))
    #expect(picture.states == Set(diagram.edges.flatMap { [$0.from, $0.to] }))
  }

  private static var writes: Bool {
    ProcessInfo.processInfo.environment["WRITE_DIAGRAMS"] != nil
  }

  private static func draw(_ diagram: StateDiagram, to file: URL) throws {
    let run = try ProgramRun(["dot", "-Tsvg", "-o", file.path], input: Array(diagram.dot.utf8))
    try #require(run.status == 0, "is graphviz installed?")
  }
}

/// The states and arrows of a picture that Graphviz has drawn.
private final class Picture: NSObject, XMLParserDelegate {
  private(set) var states: Set<String> = []
  private(set) var edges: Set<StateDiagram.Edge> = []
  private var kind: String?
  private var title = ""
  private var text = ""

  init(of file: URL) throws {
    super.init()
    let parser = XMLParser(data: try Data(contentsOf: file))
    parser.delegate = self
    try #require(parser.parse(), "\(file.lastPathComponent) is no SVG")
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    if name == "g" { kind = attributes["class"] }
    text = ""
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    switch (name, kind) {
    case ("title", _): title = text
    case ("text", "node"): states.insert(text)
    case ("text", "edge"):
      let ends = title.components(separatedBy: "->")
      guard ends.count == 2 else { return }
      edges.insert(StateDiagram.Edge(from: ends[0], label: text, to: ends[1]))
    default: break
    }
  }
}
