//! Keys of sealed sessions: the own one in a file, the others' in the configuration.
use super::text;
use crate::tunnel::control::is_valid_name;
use crate::tunnel::sealing::os_entropy;
use prismux_linux::netconf::Prefix;
use prismux_sealed::{KeyPair, PublicKey};
use serde::Deserialize;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// A member that has a key: who else seals packets is a stranger.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedPeer {
    /// The name under which it registers; with another it is refused.
    pub name: String,
    /// Its public key, as `prismux keygen` prints it.
    #[serde(deserialize_with = "text::one")]
    pub public_key: PublicKey,
    /// The receivers behind it: no packet from it has another source, none to it another destination. By default all
    /// receivers of the proxy.
    #[serde(default, deserialize_with = "text::list")]
    pub receivers: Vec<Prefix>,
    /// The home whose uplink it is; `None` for a member of its own.
    #[serde(skip)]
    pub home: Option<String>,
}

/// What is in a file that only its owner may read.
///
/// # Errors
/// When it cannot be read, or is open to others; the message names file and remedy.
pub(super) fn read_secret(file: &Path) -> Result<String, String> {
    let shown = file.display();
    let read = || Ok((std::fs::metadata(file)?.permissions().mode(), std::fs::read_to_string(file)?));
    let (mode, text) = read().map_err(|error: io::Error| format!("{shown} cannot be read: {error}"))?;
    if mode & 0o077 != 0 {
        let mode = mode & 0o777;
        return Err(format!("{shown} is open to others (mode {mode:03o}). Remedy: chmod 600 {shown}"));
    }
    Ok(text)
}

/// The key pair whose private half lies in `file`.
///
/// # Errors
/// When the file cannot be read, is open to others, or holds something else; the message names file and remedy.
pub(super) fn read_private_key(file: &Path) -> Result<KeyPair, String> {
    let shown = file.display();
    let text = read_secret(file)
        .map_err(|why| if file.exists() { why } else { format!("{why}. Make it: prismux keygen {shown}") })?;
    KeyPair::from_private_text(&text)
        .map_err(|why| format!("{shown} is {why}. Make another: prismux keygen FILE"))
}

/// A new private key as the text of its file, and the public key that goes with it.
///
/// # Errors
/// When the operating system gives no randomness.
pub fn new_private_key() -> io::Result<(String, String)> {
    let keys = KeyPair::generate(&mut os_entropy()?);
    Ok((format!("{}\n", keys.private_text()), keys.public().to_string()))
}

/// Makes a private key in `file`, unless there is one already, and returns the public key that goes with it.
///
/// # Errors
/// When the file cannot be made, or what is there is open to others or no key; the message names file and remedy.
pub fn make_private_key(file: &Path) -> Result<String, String> {
    let cannot = |error: io::Error| format!("{} cannot be made: {error}", file.display());
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(mut made) => {
            let (text, public) = new_private_key().map_err(cannot)?;
            made.write_all(text.as_bytes()).map_err(cannot)?;
            made.sync_all().map_err(cannot)?;
            Ok(public)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            read_private_key(file).map(|keys| keys.public().to_string())
        }
        Err(error) => Err(cannot(error)),
    }
}

/// The first thing about `peers` that makes no sense: the key at fault and what was expected.
pub(super) fn check_peers(peers: &[SealedPeer], receivers: &[Prefix]) -> Result<(), (&'static str, String)> {
    for (index, peer) in peers.iter().enumerate() {
        if !is_valid_name(&peer.name) {
            return Err(("name", text::name_expected(&peer.name)));
        }
        let mut others = peers.iter().take(index);
        if let Some(other) =
            others.find(|other| other.name == peer.name || other.public_key == peer.public_key)
        {
            let (a, b) = (&other.name, &peer.name);
            return Err((
                "peers",
                format!("\"{a}\" and \"{b}\" have one name or one key; each needs its own"),
            ));
        }
        let covered = |part: &Prefix| {
            receivers.iter().any(|whole| whole.length <= part.length && whole.contains(part.address))
        };
        if let Some(stray) = peer.receivers.iter().find(|part| !covered(part)) {
            let expected = format!("{stray} of \"{}\" is not among the proxy's receivers", peer.name);
            return Err(("peers", expected));
        }
    }
    Ok(())
}
