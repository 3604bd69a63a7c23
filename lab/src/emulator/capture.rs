//! Captures of everything that is handed to the links.
use prismux_trace::pcapng::{CapturedPacket, Direction, InterfaceId, PcapNg};
use prismux_units::Instant;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Held in memory before the file is written to, so that the disk seldom delays a packet.
const BUFFER_BYTES: usize = 1 << 20;

/// A pcapng file with one interface for each link. Forward is outbound, reverse is inbound; packets that the link then
/// drops or loses are there too. The simulator's captures are the same.
pub(super) struct Capture {
    file: PcapNg<BufWriter<File>>,
    interfaces: Vec<InterfaceId>,
}

impl Capture {
    /// Starts a capture of the links with the given names.
    ///
    /// # Errors
    /// When the file cannot be created or written, with its name.
    pub fn create<'a>(path: &Path, links: impl Iterator<Item = &'a str>) -> io::Result<Self> {
        let file = File::create(path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
        })?;
        let mut file = PcapNg::new(BufWriter::with_capacity(BUFFER_BYTES, file))?;
        let interfaces = links.map(|name| file.add_interface(name, "")).collect::<io::Result<_>>()?;
        Ok(Self { file, interfaces })
    }

    /// Writes a packet that enters link `link` now.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn packet(&mut self, now: Instant, link: usize, forward: bool, bytes: &[u8]) -> io::Result<()> {
        self.file.packet(&CapturedPacket {
            interface: self.interfaces[link],
            at: now,
            bytes,
            original_bytes: bytes.len() as u32,
            direction: Some(if forward { Direction::Outbound } else { Direction::Inbound }),
            comment: "",
        })
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn finish(self) -> io::Result<()> {
        self.file.finish().map(drop)
    }
}
