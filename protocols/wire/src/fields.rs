//! Headers field by field: big-endian numbers read and written one after the other, never past the end.
/// The bytes end before the field does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndsEarly;

/// The field does not fit what is left of the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom;

/// The part of a header that has not been read yet.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Reads `bytes` from their start.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What has not been read.
    pub const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// When fewer are left; these stay.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], EndsEarly> {
        let (field, rest) = self.0.split_first_chunk().ok_or(EndsEarly)?;
        self.0 = rest;
        Ok(*field)
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// When fewer are left; these stay.
    pub fn slice(&mut self, count: usize) -> Result<&'a [u8], EndsEarly> {
        let (field, rest) = self.0.split_at_checked(count).ok_or(EndsEarly)?;
        self.0 = rest;
        Ok(field)
    }

    /// A number of 8 bits.
    ///
    /// # Errors
    /// When nothing is left.
    pub fn u8(&mut self) -> Result<u8, EndsEarly> {
        self.array().map(u8::from_be_bytes)
    }

    /// A number of 16 bits.
    ///
    /// # Errors
    /// When fewer than 2 bytes are left.
    pub fn u16(&mut self) -> Result<u16, EndsEarly> {
        self.array().map(u16::from_be_bytes)
    }

    /// A number of 32 bits.
    ///
    /// # Errors
    /// When fewer than 4 bytes are left.
    pub fn u32(&mut self) -> Result<u32, EndsEarly> {
        self.array().map(u32::from_be_bytes)
    }

    /// A number of 64 bits.
    ///
    /// # Errors
    /// When fewer than 8 bytes are left.
    pub fn u64(&mut self) -> Result<u64, EndsEarly> {
        self.array().map(u64::from_be_bytes)
    }
}

/// The part of a buffer that has not been written yet.
#[derive(Debug)]
pub struct Writer<'a>(&'a mut [u8]);

impl<'a> Writer<'a> {
    /// Writes to `buffer` from its start.
    pub const fn new(buffer: &'a mut [u8]) -> Self {
        Self(buffer)
    }

    /// Writes the next field.
    ///
    /// # Errors
    /// When it does not fit; nothing is written then.
    pub fn put(&mut self, field: &[u8]) -> Result<(), NoRoom> {
        let place = self.0.split_off_mut(..field.len()).ok_or(NoRoom)?;
        place.copy_from_slice(field);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{EndsEarly, NoRoom, Reader, Writer};

    #[test]
    fn what_is_written_field_by_field_is_read_back() {
        let mut bytes = [0; 18];
        let mut writer = Writer::new(&mut bytes);
        writer.put(&[1]).unwrap();
        writer.put(&0x0203_u16.to_be_bytes()).unwrap();
        writer.put(&0x0405_0607_u32.to_be_bytes()).unwrap();
        writer.put(&0x0809_0a0b_0c0d_0e0f_u64.to_be_bytes()).unwrap();
        writer.put(&[16, 17]).unwrap();
        assert_eq!(writer.put(&[18, 19]), Err(NoRoom), "one byte is left");
        writer.put(&[18]).unwrap();
        assert_eq!(bytes, core::array::from_fn(|at| at as u8 + 1));
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.u8(), reader.u16()), (Ok(1), Ok(0x0203)));
        assert_eq!((reader.u32(), reader.u64()), (Ok(0x0405_0607), Ok(0x0809_0a0b_0c0d_0e0f)));
        assert_eq!((reader.slice(4), reader.u32()), (Err(EndsEarly), Err(EndsEarly)));
        assert_eq!((reader.array(), reader.rest()), (Ok([16, 17]), [18].as_slice()));
    }
}
