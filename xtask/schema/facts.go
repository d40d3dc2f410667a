// Command facts lists what Go's struct tags say about the kinds of Kubernetes: how each field is called in JSON and in
// protobuf, what is left out when it is empty, and what is a pointer. Its arguments are the minor version of Kubernetes that
// is linked into it, and the list of the version before: what is gone since then is kept, and what was there already is
// marked with the version in which it came.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

// facts maps kinds to types, and types to the lines about their fields by the name of the field.
type facts struct {
	kinds map[string]string
	types map[string]map[string]string
}

func main() {
	all := facts{map[string]string{}, map[string]map[string]string{}}
	all.reflect()
	if len(os.Args) > 2 {
		all.keep(read(os.Args[2]))
	}
	all.write()
}

// reflect fills in what the types that are linked into this program have.
func (f facts) reflect() {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme, apiregistrationv1.AddToScheme,
		apiregistrationv1beta1.AddToScheme, admissionv1.AddToScheme, admissionv1beta1.AddToScheme,
		imagepolicyv1alpha1.AddToScheme,
	} {
		if err := add(known); err != nil {
			panic(err)
		}
	}
	for gvk, t := range known.AllKnownTypes() {
		options := strings.HasSuffix(t.PkgPath(), "/meta/v1") && gvk.Group != ""
		if _, ok := t.FieldByName("TypeMeta"); ok && gvk.Version != runtime.APIVersionInternal && !options {
			f.kinds[gvk.GroupVersion().String()+"\t"+gvk.Kind] = name(t)
			f.visit(t)
		}
	}
	for _, t := range []any{metav1beta1.PartialObjectMetadataList{}, metav1.PartialObjectMetadata{}} {
		f.visit(reflect.TypeOf(t))
	}
}

func (f facts) visit(t reflect.Type) {
	for t.Name() == "" && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		t = t.Elem()
	}
	if !isMessage(t) {
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			f.visit(t.Elem())
		}
		return
	}
	if _, seen := f.types[name(t)]; seen {
		return
	}
	fields := map[string]string{}
	f.types[name(t)] = fields
	if t.Kind() != reflect.Struct {
		fields["Items"] = strings.Join([]string{"1", "items", "items", shapeOfKind(t), "list", os.Args[1]}, "\t")
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.IsExported() && field.Type.Kind() != reflect.Interface {
			fields[field.Name] = line(field)
			f.visit(field.Type)
		}
	}
}

// line gives number, name in protobuf, name in JSON, type, what else is to be known, and the version.
func line(field reflect.StructField) string {
	numbered, inProtobuf := "", ""
	for i, part := range strings.Split(field.Tag.Get("protobuf"), ",") {
		if i == 1 {
			numbered = part
		}
		if name, ok := strings.CutPrefix(part, "name="); ok {
			inProtobuf = name
		}
	}
	tag := strings.Split(field.Tag.Get("json"), ",")
	flags := tag[1:]
	if field.Anonymous && tag[0] == "" {
		flags = []string{"inline"}
	}
	if len(flags) == 0 {
		flags = []string{"-"}
	}
	return strings.Join([]string{numbered, inProtobuf, tag[0], shape(field.Type), strings.Join(flags, ","), os.Args[1]}, "\t")
}

// isMessage tells types that are messages on the wire, some of which are slices in Go.
func isMessage(t reflect.Type) bool {
	_, marshals := reflect.PointerTo(t).MethodByName("Marshal")
	return t.Kind() == reflect.Struct || t.Name() != "" && marshals
}

func name(t reflect.Type) string { return strings.TrimPrefix(t.PkgPath(), "k8s.io/") + "." + t.Name() }

func shape(t reflect.Type) string {
	if isMessage(t) {
		return name(t)
	}
	return shapeOfKind(t)
}

func shapeOfKind(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return "*" + shape(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "bytes"
	case t.Kind() == reflect.Slice:
		return "[]" + shape(t.Elem())
	case t.Kind() == reflect.Map:
		return "map[" + t.Key().Kind().String() + "]" + shape(t.Elem())
	}
	return t.Kind().String()
}

// keep adds what only the earlier version has, unless its number is another field's now.
func (f facts) keep(earlier facts) {
	for kind, t := range earlier.kinds {
		if f.kinds[kind] == "" {
			f.kinds[kind] = t
		}
	}
	for t, fields := range earlier.types {
		if f.types[t] == nil {
			f.types[t] = fields
			continue
		}
		taken := map[string]bool{"": true}
		for _, now := range f.types[t] {
			taken[number(now)] = true
		}
		for field, then := range fields {
			now, ok := f.types[t][field]
			switch {
			case ok && number(now) == number(then):
				f.types[t][field] = now[:strings.LastIndex(now, "\t")] + then[strings.LastIndex(then, "\t"):]
			case !ok && !taken[number(then)]:
				// What is gone is never there without having been set.
				f.types[t][field] = strings.Replace(then, "\t-\t", "\tomitempty\t", 1)
			}
		}
	}
}

func number(line string) string {
	number, _, _ := strings.Cut(line, "\t")
	return number
}

func read(path string) facts {
	f := facts{map[string]string{}, map[string]map[string]string{}}
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	var fields map[string]string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		switch what, rest, _ := strings.Cut(lines.Text(), "\t"); what {
		case "kind":
			at := strings.LastIndex(rest, "\t")
			f.kinds[rest[:at]] = rest[at+1:]
		case "type":
			fields = map[string]string{}
			f.types[rest] = fields
		default:
			field, line, _ := strings.Cut(rest, "\t")
			fields[field] = line
		}
	}
	return f
}

func (f facts) write() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, kind := range sorted(f.kinds) {
		fmt.Fprintf(out, "kind\t%s\t%s\n", kind, f.kinds[kind])
	}
	for _, t := range sorted(f.types) {
		fmt.Fprintf(out, "type\t%s\n", t)
		for _, field := range sorted(f.types[t]) {
			fmt.Fprintf(out, "field\t%s\t%s\n", field, f.types[t][field])
		}
	}
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
