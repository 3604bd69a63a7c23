//! Objects in memory, keys and randomness from seeds.
use prismux_endpoint::random::Seed;
use prismux_fetch::Entropy;
use prismux_fetch::digest::Digest;
use prismux_fetch::handshake::{Identity, Refusal};
use prismux_fetch::key::ServerKey;
use prismux_fetch::server::{Lookup, Object, Objects, Server, ServerConfig, Unreadable};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

/// Bytes that look like nothing in particular.
pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut random = Seed(seed).stream("content");
    (0..length).map(|_| random.below(256) as u8).collect()
}

/// Randomness for the component `name` of a run.
pub fn entropy(seed: u64, name: &str) -> Entropy {
    let mut random = Seed(seed).stream(name);
    Entropy::from_seed(
        [0; 4].map(|_: u64| random.next_u64().to_be_bytes()).concat().try_into().expect("32 bytes"),
    )
}

/// The key of server `index`.
pub fn key(index: u64) -> ServerKey {
    ServerKey::generate(&mut entropy(index, "key"))
}

/// A server out of `objects`.
pub fn server_of<O: Objects>(key: &ServerKey, config: ServerConfig, objects: O) -> Server<O> {
    Server::new(key.clone(), config, objects, entropy(1, "server"))
}

/// An object in memory.
pub struct Bytes {
    pub bytes: Vec<u8>,
    pub claimed: Identity,
}

impl Object for Bytes {
    fn identity(&self) -> Identity {
        self.claimed
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Unreadable> {
        let start = offset as usize;
        let part = self.bytes.get(start..start + buffer.len()).ok_or(Unreadable)?;
        buffer.copy_from_slice(part);
        Ok(())
    }
    fn is_unchanged(&self) -> bool {
        true
    }
}

pub fn identity(bytes: &[u8]) -> Identity {
    Identity { size: bytes.len() as u64, digest: Digest::of(bytes).expect("memory") }
}

/// One object, called "object", that for a while is not ready.
#[derive(Clone)]
pub struct Shelf {
    pub object: Arc<Bytes>,
    /// So many requests hear that the object is being prepared.
    pub preparing: Rc<Cell<u32>>,
    /// So many requests hear that it cannot be read.
    pub unreadable: Rc<Cell<u32>>,
}

impl Shelf {
    pub fn of(bytes: &[u8]) -> Self {
        let object = Bytes { bytes: bytes.to_vec(), claimed: identity(bytes) };
        Self { object: Arc::new(object), preparing: Rc::default(), unreadable: Rc::default() }
    }
}

/// Counts down; true until it has reached zero.
fn takes_one(left: &Cell<u32>) -> bool {
    let has_left = left.get() > 0;
    left.set(left.get().saturating_sub(1));
    has_left
}

impl Objects for Shelf {
    fn find(&mut self, path: &str) -> Lookup {
        match path {
            "object" if takes_one(&self.preparing) => Lookup::Preparing,
            "object" if takes_one(&self.unreadable) => Lookup::Refused(Refusal::Unreadable),
            "object" => Lookup::Ready(Arc::clone(&self.object) as Arc<dyn Object>),
            _ => Lookup::Refused(Refusal::NotFound),
        }
    }
}
