import {
  Form,
  useLoaderData,
  type ActionFunctionArgs,
  type LoaderFunctionArgs,
} from "react-router";
import { auth } from "../auth.server";
import { ran } from "../ran.server";

export async function loader({ request }: LoaderFunctionArgs) {
  ran.push("loader");
  return { secret: "MEMBERS ONLY", user: (await auth.requireSession(request)).user };
}

export async function action({ request }: ActionFunctionArgs) {
  ran.push("action");
  await auth.requireSession(request);
  return { secret: "MEMBERS ONLY", name: (await request.formData()).get("name") };
}

export default function Members() {
  const { secret, user } = useLoaderData<typeof loader>();
  return (
    <Form method="post">
      {`${secret} for ${user?.name}`}
      <button>Rename</button>
    </Form>
  );
}
