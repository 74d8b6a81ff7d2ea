import Foundation
import Testing

/// The script that checks the links of the site sees each kind of link that leads nowhere.
@Suite struct LinksTests {
  /// A site of two pages as DocC writes them, the first of which leads to the second.
  private struct Site {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "links-\(UUID().uuidString)")

    // What the first page describes by name and what its text uses, and where navigation and header lead to.
    init(
      references: [String: [String: String]] = [
        "a": ["type": "topic", "url": "/documentation/b#Top"]
      ],
      uses: [String] = ["a"], navigation: String = "/documentation/b",
      header: String = "/documentation/reprise"
    ) throws {
      let text = uses.map { ["type": "reference", "identifier": $0] }
      try write(["references": references, "content": text], to: "data/documentation/reprise.json")
      try write(
        ["references": [:], "content": [["anchor": "Top"]]], to: "data/documentation/b.json")
      try write(
        ["interfaceLanguages": ["swift": [["path": navigation]]]], to: "index/index.json")
      for page in ["reprise", "b"] {
        let html = Data("<a href=\"\(header)\">x</a>".utf8)
        try write(html, to: "documentation/\(page)/index.html")
      }
      try write(Data(), to: "images/picture.svg")
    }

    private func write(_ json: [String: Any], to path: String) throws {
      try write(try JSONSerialization.data(withJSONObject: json), to: path)
    }

    private func write(_ data: Data, to path: String) throws {
      let file = folder.appending(path: path)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try data.write(to: file)
    }

    /// Runs the script on the site, and returns its status and what it says.
    func check() throws -> (status: Int32, said: String) {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      let script = Article.package.appending(path: "Tests/DocumentationTests/Site/links.py")
      process.arguments = ["python3", "-B", script.path, folder.path]
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let said = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      try FileManager.default.removeItem(at: folder)
      return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
  }

  private func wrong(_ site: Site) throws -> String {
    let (status, said) = try site.check()
    #expect(status == 1)
    return said
  }

  @Test func takesASiteThatIsWhole() throws {
    let (status, said) = try Site().check()
    #expect(status == 0 && said == "links: 3 links on 2 pages lead somewhere\n")
  }

  @Test(arguments: [
    (["type": "topic", "url": "/documentation/c"], "no page /documentation/c"),
    (["type": "topic", "url": "/documentation/b#bottom"], "no heading /documentation/b#bottom"),
    (["type": "image", "url": "/images/none.svg"], "no file /images/none.svg"),
    (
      ["type": "link", "url": "b.md"],
      "b.md is neither a link of DocC nor one to another server"
    ),
    (["type": "unresolvable", "title": "B.C"], "B.C was not resolved"),
  ])
  func seesAReferenceThatLeadsNowhere(reference: [String: String], says: String) throws {
    let said = try wrong(Site(references: ["a": reference]))
    #expect(said == "links: /documentation/reprise: \(says)\n")
  }

  @Test func takesWhatIsNotOfTheSite() throws {
    let others = [
      ["type": "image", "url": "/images/picture.svg"],
      ["type": "link", "url": "https://www.swift.org"],
      ["type": "unresolvable", "title": "Swift.Sendable"],
    ]
    for other in others {
      let (status, said) = try Site(references: ["a": other]).check()
      #expect(status == 0, "\(said)")
    }
  }

  @Test func seesWhatIsUsedAndNotDescribed() throws {
    let said = try wrong(Site(uses: ["a", "b"]))
    #expect(said == "links: /documentation/reprise: b is used and not described\n")
  }

  @Test func seesNavigationAndHeader() throws {
    #expect(
      try wrong(Site(navigation: "/documentation/c"))
        == "links: navigation: no page /documentation/c\n")
    #expect(
      try wrong(Site(header: "/documentation/reprise#how"))
        == "links: header: no heading /documentation/reprise#how\n")
  }
}
