//! Where members were, kept in a file: a proxy that starts again calls them, and nobody else is answered unasked.
use crate::tunnel::Peer;
use crate::whole_file;
use std::path::PathBuf;

/// Most members that are remembered, of all communities.
const MAX_KNOWN: usize = 1024;

/// Members by name, and where each was last.
#[derive(Debug)]
pub(super) struct Known {
    file: PathBuf,
    members: Vec<(String, Peer)>,
    /// The file could not be written, and somebody has been told.
    is_lost: bool,
}

impl Known {
    /// What `file` says: lines of a name and a tunnel's end. Nobody is known without it.
    pub fn read(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let member = |line: &str| {
            let (name, peer) = line.split_once(' ')?;
            Some((name.to_owned(), peer.parse().ok()?))
        };
        let members = text.lines().filter_map(member).take(MAX_KNOWN).collect();
        Self { file, members, is_lost: false }
    }

    /// Whether a member was there.
    pub fn knows(&self, peer: Peer) -> bool {
        self.members.iter().any(|(_, known)| *known == peer)
    }

    /// Where a member was.
    pub fn peer_of(&self, name: &str) -> Option<Peer> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, peer)| *peer)
    }

    /// All of them.
    pub fn peers(&self) -> impl Iterator<Item = Peer> {
        self.members.iter().map(|(_, peer)| *peer)
    }

    /// A member is there.
    pub fn note(&mut self, name: &str, peer: Peer) {
        if self.peer_of(name) == Some(peer) {
            return;
        }
        self.members.retain(|(known, _)| known != name);
        if self.members.len() >= MAX_KNOWN {
            self.members.remove(0);
        }
        self.members.push((name.to_owned(), peer));
        self.write();
    }

    /// A member has left on purpose.
    pub fn forget(&mut self, name: &str) {
        self.members.retain(|(known, _)| known != name);
        self.write();
    }

    fn write(&mut self) {
        let lines: String = self.members.iter().map(|(name, peer)| format!("{name} {peer}\n")).collect();
        if let Err(error) = whole_file::replace(&self.file, &lines)
            && !std::mem::replace(&mut self.is_lost, true)
        {
            let file = self.file.display();
            tracing::warn!(%file, %error, "where members are cannot be kept: after a restart they have to call first");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Known, MAX_KNOWN, Peer};

    #[test]
    fn members_are_known_again_and_those_who_left_are_not() {
        let file = std::env::temp_dir().join(format!("prismux-known-{}.members", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let (gre, udp) = (Peer::gre([192, 0, 2, 1]), Peer::udp("[2001:db8::1]:4754".parse().unwrap()));
        let mut known = Known::read(file.clone());
        known.note("a", gre);
        known.note("b", udp);
        known.note("a", udp);
        known.note("c", gre);
        known.forget("c");
        let again = Known::read(file.clone());
        assert_eq!((again.peer_of("a"), again.peer_of("b"), again.knows(gre)), (Some(udp), Some(udp), false));
        for number in 0..2 * MAX_KNOWN {
            known.note(&number.to_string(), gre);
        }
        assert_eq!(Known::read(file.clone()).peers().count(), MAX_KNOWN);
        std::fs::write(&file, "garbage\n\0\0 udp:nowhere\nd gre:192.0.2.7\n").unwrap();
        assert_eq!(Known::read(file.clone()).peers().collect::<Vec<_>>(), [Peer::gre([192, 0, 2, 7])]);
        std::fs::remove_file(file).unwrap();
    }
}
