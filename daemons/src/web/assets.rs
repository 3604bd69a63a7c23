//! The page itself: markup, style, and scripts as modules, each for one idea. It refers to nothing outside.

/// A part of the page: its path, its type, and its text.
pub(super) struct Asset {
    pub path: &'static str,
    pub kind: &'static str,
    pub text: &'static str,
}

const fn script(path: &'static str, text: &'static str) -> Asset {
    Asset { path, kind: "text/javascript; charset=utf-8", text }
}

/// All parts.
pub(super) const ASSETS: &[Asset] = &[
    Asset { path: "/", kind: "text/html; charset=utf-8", text: include_str!("../../page/index.html") },
    Asset { path: "/style.css", kind: "text/css; charset=utf-8", text: include_str!("../../page/style.css") },
    script("/main.js", include_str!("../../page/main.js")),
    script("/source.js", include_str!("../../page/source.js")),
    script("/words.js", include_str!("../../page/words.js")),
    script("/chart.js", include_str!("../../page/chart.js")),
    script("/cards.js", include_str!("../../page/cards.js")),
    script("/lists.js", include_str!("../../page/lists.js")),
];

#[cfg(test)]
mod tests {
    use super::ASSETS;

    #[test]
    fn the_page_refers_to_its_own_parts_alone() {
        for asset in ASSETS {
            for outside in
                ["http://", "https://", "@import", "url(", "innerHTML", "insertAdjacentHTML", " style="]
            {
                assert!(!asset.text.contains(outside), "{}: {outside}", asset.path);
            }
            for line in asset.text.lines().filter(|line| line.starts_with("import ")) {
                let from = line.split("from \"./").nth(1).and_then(|rest| rest.strip_suffix("\";"));
                let path = format!("/{}", from.unwrap_or_else(|| panic!("{}: {line}", asset.path)));
                assert!(ASSETS.iter().any(|other| other.path == path), "{} is not served", path);
            }
        }
    }
}
