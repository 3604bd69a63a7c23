//! An object that is under way: the list of pieces, or a piece that a neighbour gives.
use crate::client::{Download, DownloadConfig, DownloadError, DownloadEvent, PathSpec};
use crate::handshake::Identity;
use prismux_community::contents::Source;
use prismux_endpoint::Endpoint as _;
use prismux_sealed::Entropy;
use prismux_units::{ByteCount, Duration, Instant};

/// A download of bytes that are kept here until all of them have come.
pub(super) struct Transfer {
    pub(super) from: Source,
    pub(super) download: Download,
    bytes: Vec<u8>,
    received_bytes: u64,
}

impl Transfer {
    /// A whole object of whatever size, up to a limit that `config` has.
    pub(super) fn of_object(
        config: DownloadConfig,
        paths: &[PathSpec],
        entropy: &mut Entropy,
        now: Instant,
    ) -> Self {
        let download = begin(config, paths, entropy, now);
        Self { from: Source::Origin, download, bytes: Vec::new(), received_bytes: 0 }
    }

    /// A piece that a neighbour gives as an object of its own.
    pub(super) fn from_neighbour(
        from: Source,
        identity: Identity,
        give_up_after: Duration,
        path: PathSpec,
        entropy: &mut Entropy,
        now: Instant,
    ) -> Self {
        let config = DownloadConfig {
            digest: Some(identity.digest),
            max_size: Some(ByteCount::new(identity.size)),
            give_up_after,
            ..DownloadConfig::default()
        };
        let download = begin(config, &[path], entropy, now);
        Self { from, download, bytes: Vec::new(), received_bytes: 0 }
    }

    /// Bytes that have come so far.
    pub(super) const fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Takes what has come: all bytes, once all are here, or why they will not be.
    pub(super) fn take(&mut self) -> Option<Result<Vec<u8>, DownloadError>> {
        while let Some(event) = self.download.poll_event() {
            match event {
                DownloadEvent::Identified(identity) => self.bytes = vec![0; identity.size as usize],
                DownloadEvent::Received { offset, part } => {
                    let part = self.download.part(part);
                    let start = offset as usize;
                    if let Some(room) = self.bytes.get_mut(start..start + part.len()) {
                        room.copy_from_slice(part);
                        self.received_bytes += part.len() as u64;
                    }
                }
                DownloadEvent::Complete => return Some(Ok(std::mem::take(&mut self.bytes))),
                DownloadEvent::Failed(why) => return Some(Err(why)),
                _ => {}
            }
        }
        None
    }
}

/// A download that begins now.
pub(super) fn begin(
    config: DownloadConfig,
    paths: &[PathSpec],
    entropy: &mut Entropy,
    now: Instant,
) -> Download {
    let own = Entropy::from_seed(entropy.bytes());
    let mut download = Download::new(config, paths.iter().cloned(), own, now);
    prismux_endpoint::expire(&mut download, now);
    download
}
