//! What datagrams and headers carry: values of their protocols' own types, each type in a store of its own.
use super::kept::KeptContent;
use std::any::{Any, TypeId};
use std::fmt;
use std::net::Ipv4Addr;

/// What a protocol puts into its datagrams, or around packets of others: headers as a typed value. The payload is a
/// length in the packet itself.
pub trait Content: fmt::Debug + Send + 'static {
    /// Bytes of the headers on the wire.
    fn header_bytes(&self) -> usize;

    /// Whether the headers begin with TCP's own, so that there is none of UDP before them.
    fn is_segment(&self) -> bool {
        false
    }

    /// Offset of the payload in the sender's stream, for logs; `None` where there is no stream.
    fn stream_offset(&self) -> Option<u64> {
        None
    }

    /// For headers that stand right behind an IP header, before something of protocol `next_header`: what captures
    /// show. `None` for what stands in a datagram or a segment.
    fn behind_ip(&self, next_header: u8) -> Option<BehindIp> {
        let _ = next_header;
        None
    }

    /// Writes the headers to the first bytes of `bytes`, for captures.
    fn emit(&self, bytes: &mut [u8]);
}

/// Headers right behind an IP header, and what that says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BehindIp {
    /// The source address.
    pub source: Ipv4Addr,
    /// The destination address.
    pub destination: Ipv4Addr,
    /// The hop limit.
    pub hop_limit: u8,
    /// The protocol; what is carried is of its own protocol where the headers are empty.
    pub protocol: u8,
    /// The headers.
    pub bytes: Vec<u8>,
}

/// The place of a content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentHandle {
    store: u16,
    index: u32,
}

/// The contents of all datagrams under way, and the headers around packets. Places are used again: nothing is allocated
/// once a run is on its way.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// The type that each store keeps, in the order of first use.
    types: Vec<TypeId>,
    stores: Vec<Box<dyn AnyStore>>,
}

/// The contents of one type.
#[derive(Debug)]
struct Store<C> {
    contents: Vec<Option<C>>,
    free: Vec<u32>,
}

impl<C> Store<C> {
    fn put(&mut self, content: Option<C>) -> u32 {
        match self.free.pop() {
            Some(index) => {
                self.contents[index as usize] = content;
                index
            }
            None => {
                self.contents.push(content);
                (self.contents.len() - 1) as u32
            }
        }
    }
}

/// A store, whatever its type.
trait AnyStore: fmt::Debug + Send {
    fn get(&self, index: u32) -> Option<&dyn Content>;
    /// A second content like the one at `index`.
    fn duplicate(&mut self, index: u32) -> u32;
    /// A copy of the content at `index`, outside of the store.
    fn keep_copy(&self, index: u32) -> Option<KeptContent>;
    fn release(&mut self, index: u32);
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<C: Content + Clone> AnyStore for Store<C> {
    fn get(&self, index: u32) -> Option<&dyn Content> {
        self.contents[index as usize].as_ref().map(|content| content as &dyn Content)
    }

    fn duplicate(&mut self, index: u32) -> u32 {
        let twin = self.contents[index as usize].clone();
        self.put(twin)
    }

    fn keep_copy(&self, index: u32) -> Option<KeptContent> {
        self.contents[index as usize].clone().map(KeptContent::of)
    }

    fn release(&mut self, index: u32) {
        self.contents[index as usize] = None;
        self.free.push(index);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Contents {
    /// Keeps `content`.
    pub fn keep<C: Content + Clone>(&mut self, content: C) -> ContentHandle {
        let known = self.types.iter().position(|known| *known == TypeId::of::<C>());
        let store = known.unwrap_or_else(|| {
            self.types.push(TypeId::of::<C>());
            self.stores.push(Box::new(Store::<C> { contents: Vec::new(), free: Vec::new() }));
            self.stores.len() - 1
        });
        let index = self.store::<C>(store).map_or(0, |store| store.put(Some(content)));
        ContentHandle { store: store as u16, index }
    }

    /// The content at `handle`; `None` once it has been taken.
    pub fn get(&self, handle: ContentHandle) -> Option<&dyn Content> {
        self.stores[usize::from(handle.store)].get(handle.index)
    }

    /// The content at `handle`, if it is of type `C` and has not been taken.
    pub fn get_as<C: Content + Clone>(&self, handle: ContentHandle) -> Option<&C> {
        let store: &Store<C> = self.stores[usize::from(handle.store)].as_any().downcast_ref()?;
        store.contents[handle.index as usize].as_ref()
    }

    /// Takes out the content at `handle` if it is of type `C`. Its place stays occupied until it is released.
    pub fn take<C: Content + Clone>(&mut self, handle: ContentHandle) -> Option<C> {
        let store = self.store::<C>(usize::from(handle.store))?;
        store.contents[handle.index as usize].take()
    }

    /// A second content like the one at `handle`.
    pub fn duplicate(&mut self, handle: ContentHandle) -> ContentHandle {
        let index = self.stores[usize::from(handle.store)].duplicate(handle.index);
        ContentHandle { index, ..handle }
    }

    /// A copy of the content at `handle`, outside of the stores; `None` once it has been taken.
    pub fn keep_copy(&self, handle: ContentHandle) -> Option<KeptContent> {
        self.stores[usize::from(handle.store)].keep_copy(handle.index)
    }

    /// Frees the place at `handle`.
    pub fn release(&mut self, handle: ContentHandle) {
        self.stores[usize::from(handle.store)].release(handle.index);
    }

    fn store<C: Content>(&mut self, store: usize) -> Option<&mut Store<C>> {
        self.stores[store].as_any_mut().downcast_mut()
    }
}
