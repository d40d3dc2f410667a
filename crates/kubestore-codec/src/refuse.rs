//! What serializers refuse that take a name, or look for the type of an object.

/// The methods of a serde serializer for everything that has parts, all of which give `$refuse()`.
macro_rules! refuse_parts {
    ($ok:ty, $error:ty, $refuse:path) => {
        fn serialize_newtype_variant<T: serde::Serialize + ?Sized>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<$ok, $error> {
            $refuse()
        }

        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, $error> {
            $refuse()
        }

        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, $error> {
            $refuse()
        }

        fn serialize_tuple_struct(
            self,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleStruct, $error> {
            $refuse()
        }

        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant, $error> {
            $refuse()
        }

        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant, $error> {
            $refuse()
        }
    };
}

pub(crate) use refuse_parts;
